"""Attention maps against weights worked out by hand, and against timm's own windows."""

from __future__ import annotations

import numpy as np
import pytest
import timm
import torch
import torchvision
from torch import nn

from snellen.errors import UserError
from snellen.explain import attention, attention_grids
from snellen.explain.attention_layers import AttentionLayer, _is_readable
from snellen.explain.feature_grid import Places


def seeded(build, *arguments, **settings) -> nn.Module:
    """A network with random weights whose attention is far from even."""
    torch.manual_seed(0)
    network = build(*arguments, **settings).eval()
    for name, parameter in network.named_parameters():
        if "qkv" in name or "in_proj" in name:
            nn.init.normal_(parameter, std=0.3)
    return network


def pictures(count: int, height: int, width: int) -> torch.Tensor:
    coarse = torch.randn(count, 3, 6, 6, generator=torch.Generator().manual_seed(7))
    return nn.functional.interpolate(coarse, (height, width), mode="bicubic")


def object_masks(count: int, height: int, width: int) -> torch.Tensor:
    """One pixel of one patch, and some patches."""
    masks = torch.zeros(count, height, width, dtype=torch.bool)
    masks[0, 5, height // 2] = True
    masks[1:, height // 3 : height // 2, : width // 3] = True
    return masks


def expected_map(received: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Of attention [B, h, w]: enlarged, each divided by its maximum."""
    enlarged = nn.functional.interpolate(received[:, None], size, mode="bilinear")[:, 0]
    return enlarged / enlarged.amax((1, 2), keepdim=True)


@pytest.mark.parametrize(
    ("name", "size", "extra"),
    [
        ("vit_tiny_patch16_224", (64, 64), 1),
        ("vit_tiny_patch16_224", (48, 80), 1),
        ("deit_tiny_distilled_patch16_224", (64, 64), 2),
    ],
)
def test_vit_and_deit_equal_the_softmax_of_queries_and_keys(name, size, extra) -> None:
    network = seeded(timm.create_model, name, num_classes=5, img_size=size, depth=3)
    images, masks = pictures(2, *size), object_masks(2, *size)
    tokens: list[torch.Tensor] = []
    handle = network.blocks[1].attn.register_forward_pre_hook(lambda _, inputs: tokens.append(inputs[0].detach()))
    with torch.no_grad():
        network(images)
    handle.remove()
    layer = network.blocks[1].attn
    with torch.no_grad():
        queries, keys, _ = layer.qkv(tokens[0]).unflatten(2, (3, layer.num_heads, -1)).permute(2, 0, 3, 1, 4)
    weights = (queries @ keys.transpose(2, 3) / keys.shape[3] ** 0.5).softmax(3).sum(1).numpy()  # over heads
    height, width = size[0] // 16, size[1] // 16
    received = np.zeros((2, height, width), np.float32)
    for image in range(2):
        for row in range(height):
            for column in range(width):
                if masks[image, row * 16 : row * 16 + 16, column * 16 : column * 16 + 16].any():
                    token = extra + row * width + column
                    received[image] += weights[image, token, extra:].reshape(height, width)
    ours = attention(network, images, masks, layers=1)
    assert torch.allclose(ours, expected_map(torch.from_numpy(received), size), atol=1e-5)
    assert torch.equal(attention(network, images, masks, layers="blocks.1"), ours)
    assert torch.equal(attention(network, images, masks, layers=-2), ours)
    assert not torch.allclose(attention(network, images, masks), ours, atol=1e-3)  # the last, by default


def test_masks_of_any_kind_ask_the_same_and_others_are_refused() -> None:
    network = seeded(timm.create_model, "vit_tiny_patch16_224", num_classes=5, img_size=32, depth=2)
    images, masks = pictures(2, 32, 32), object_masks(2, 32, 32)
    expected = attention_grids(network, images, masks)["blocks.1.attn"]
    for form in (masks.byte() * 255, masks.numpy(), masks.float()):
        assert torch.equal(attention_grids(network, images, form)["blocks.1.attn"], expected)
    with pytest.raises(ValueError, match=r"0 and 1 or 0 and 255, got others from 0 to 0\.5"):
        attention_grids(network, images, masks.float() / 2)


def test_fused_attention_is_off_only_while_it_is_read() -> None:
    network = seeded(timm.create_model, "vit_tiny_patch16_224", num_classes=5, img_size=32, depth=2)
    states = [block.attn.fused_attn for block in network.blocks]
    during: list[list[bool]] = []
    network.norm.register_forward_hook(lambda *_: during.append([block.attn.fused_attn for block in network.blocks]))
    for block in network.blocks:
        block.attn.fused_attn = True
    attention(network, pictures(1, 32, 32))
    assert during[-1] == [True, False]
    assert [block.attn.fused_attn for block in network.blocks] == [True, True]
    assert all(states) or not any(states)
    assert not any(module._forward_pre_hooks for module in network.modules())


@pytest.mark.parametrize(("block", "shift"), [((0, 0), (0, 0)), ((0, 1), (1, 1)), ((1, 1), (1, 0))])
def test_swin_is_put_together_from_its_windows_as_timm_does(block, shift, monkeypatch) -> None:
    """timm cuts, shifts and joins one-hot places; attention multiplies them instead of values."""
    size = (40, 24)  # 10 × 6 places, which windows of 3 do not fill
    network = seeded(
        *(timm.create_model, "swin_tiny_patch4_window7_224"),
        num_classes=5,
        img_size=size,
        window_size=3,
        embed_dim=24,
        depths=(2, 2),
        num_heads=(2, 2),
        strict_img_size=False,
    )
    images, masks = pictures(2, *size), object_masks(2, *size)
    one = network.layers[block[0]].blocks[block[1]]
    assert tuple(one.shift_size) == shift
    weights: list[torch.Tensor] = []
    one.attn.fused_attn = False
    handle = one.attn.attn_drop.register_forward_pre_hook(lambda _, inputs: weights.append(inputs[0].detach()))
    with torch.no_grad():
        network(images)
    handle.remove()
    height, width = (10, 6) if block[0] == 0 else (5, 3)
    places = torch.eye(height * width).view(1, height, width, -1).expand(2, -1, -1, -1)
    monkeypatch.setattr(one.attn, "forward", lambda windows, mask=None: weights[0].sum(1) @ windows)
    attended = one._attn(places)  # [image, row, column, place]: what each query attends to
    monkeypatch.undo()
    asking = nn.functional.adaptive_max_pool2d(masks.float()[:, None], (height, width))[:, 0]
    received = (attended * asking[..., None]).sum((1, 2)).view(2, height, width)
    ours = attention(network, images, masks, layers=f"layers.{block[0]}.blocks.{block[1]}")
    assert torch.allclose(ours, expected_map(received, size), atol=1e-5)


def test_windows_of_a_shifted_grid_hold_the_places_worked_out_by_hand() -> None:
    layer = AttentionLayer("attn", Places("channels last", 3, 2), (2, 2), (1, 0))
    # rows 1, 2, 0 after rolling; the fourth row is padding
    assert layer.tokens().tolist() == [[2, 3, 4, 5], [0, 1, -1, -1]]
    whole = AttentionLayer("attn", Places("tokens", 2, 2, 1))
    assert whole.tokens().tolist() == [[-1, 0, 1, 2, 3]]


def test_torchs_own_attention_is_read_too() -> None:
    network = seeded(
        torchvision.models.VisionTransformer,
        image_size=32,
        patch_size=8,
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        mlp_dim=16,
    )
    images = pictures(2, 32, 32)
    tokens: list[torch.Tensor] = []
    layer = network.encoder.layers[1].self_attention
    handle = layer.register_forward_pre_hook(lambda _, inputs: tokens.append(inputs[0].detach()))
    with torch.no_grad():
        network(images)
        handle.remove()
        queries, keys, _ = (
            nn.functional.linear(tokens[0], layer.in_proj_weight, layer.in_proj_bias)
            .unflatten(2, (3, 2, 8))
            .permute(2, 0, 3, 1, 4)
        )
    weights = (queries @ keys.transpose(2, 3) / 8**0.5).softmax(3)
    received = weights[:, :, 1:, 1:].sum((1, 2)).view(2, 4, 4)  # every token of the image asks
    assert torch.allclose(attention(network, images), expected_map(received, (32, 32)), atol=1e-5)


def test_several_layers_are_averaged_and_an_image_has_the_same_map_in_any_batch() -> None:
    network = seeded(timm.create_model, "vit_tiny_patch16_224", num_classes=5, img_size=48, depth=3)
    images, masks = pictures(3, 48, 48), object_masks(3, 48, 48)
    together = attention(network, images, masks, [0, 2])
    alone = torch.cat([attention(network, images[row : row + 1], masks[row : row + 1], [0, 2]) for row in range(3)])
    assert torch.allclose(together, alone, atol=1e-5)
    assert not torch.allclose(together, attention(network, images, masks, 0), atol=1e-3)


def test_an_empty_mask_gives_a_map_of_zeros() -> None:
    network = seeded(timm.create_model, "vit_tiny_patch16_224", num_classes=5, img_size=32, depth=1)
    assert not attention(network, pictures(2, 32, 32), torch.zeros(2, 32, 32, dtype=torch.bool)).any()


def test_what_cannot_be_read_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="no self-attention that can be read.*gradcam works for any network"):
        attention(torchvision.models.resnet18(num_classes=3).eval(), pictures(1, 32, 32))
    network = seeded(timm.create_model, "vit_tiny_patch16_224", num_classes=5, img_size=32, depth=2)
    with pytest.raises(UserError, match="expected a layer of attention from -2 to 1, got 2"):
        attention(network, pictures(1, 32, 32), layers=2)
    with pytest.raises(UserError, match=r"unknown layer of attention 'blocks.7.attn'; did you mean 'blocks.\d.attn'"):
        attention(network, pictures(1, 32, 32), layers="blocks.7.attn")
    with pytest.raises(ValueError, match="expected masks"):
        attention(network, pictures(1, 32, 32), torch.zeros(1, 16, 16, dtype=torch.bool))


def test_only_weights_that_pass_a_dropout_or_can_be_asked_for_can_be_read() -> None:
    """timm's modules say whether they are fused; another module with a dropout of that name may use it for anything."""
    block = timm.create_model("vit_tiny_patch16_224", img_size=32, depth=1).blocks[0]
    strange = nn.Module()
    strange.attn_drop = nn.Dropout(0.0)
    fused = nn.Module()
    fused.fused_attn = True
    modules = (block.attn, nn.MultiheadAttention(4, 1), strange, fused, block.mlp)
    assert [_is_readable(module) for module in modules] == [True, True, False, False, False]
