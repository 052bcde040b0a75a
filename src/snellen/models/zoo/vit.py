"""A small vision transformer for 32-px images: timm's class in the size of Lee et al. (2021, small-size datasets).

Nine blocks of 192 channels with twelve heads and an MLP of twice the width. Images of another size than 32 px are
understood too: position embeddings are then resampled, and edges padded to whole patches.
"""

from __future__ import annotations

from timm.models.vision_transformer import VisionTransformer


def small_vit(patch: int, classes: int) -> VisionTransformer:
    """A transformer on patches of `patch` × `patch` pixels with a class token; (32 / patch)² + 1 tokens at 32 px."""
    return VisionTransformer(
        img_size=32,
        patch_size=patch,
        num_classes=classes,
        embed_dim=192,
        depth=9,
        num_heads=12,
        mlp_ratio=2,
        dynamic_img_size=True,
        dynamic_img_pad=True,
    )
