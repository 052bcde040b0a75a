"""A tiny CLIP and a tiny SigLIP of random weights, with image processor and tokenizer, as save_pretrained writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from snellen.models.zero_shot.prompts import PUBLISHED

CLASSES = ("cat", "dog", "fox")
LONGEST = 16


def save_tokenizer(folder: Path) -> int:
    """A tokenizer of the words in the published prompts; how many there are. (2 as the end would mean an old rule to CLIP.)"""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for text in PUBLISHED for word in text.replace("{}.", "").split()} | {*CLASSES, "."})
    known = {word: number for number, word in enumerate(["<pad>", "<bos>", "<unk>", "<eos>", *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 1), ("<eos>", 3)]
    )
    marks = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    return len(known)


def save_encoder(folder: Path, name: str) -> Any:
    """The network, saved: `clip` or `siglip`."""
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    marks = {"bos_token_id": 1, "eos_token_id": 3, "pad_token_id": 0}
    text = {**sizes, **marks, "vocab_size": save_tokenizer(folder), "max_position_embeddings": LONGEST}
    vision = {**sizes, "image_size": 32, "patch_size": 8}
    square = {"height": 32, "width": 32}
    network: Any
    if name == "clip":
        config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
        network = transformers.CLIPModel(config)
        processor: Any = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=square)
    else:
        network = transformers.SiglipModel(transformers.SiglipConfig(text_config=text, vision_config=vision))
        processor = transformers.SiglipImageProcessor(size=square)
    for value in network.state_dict().values():  # answers of fresh networks hardly depend on the image
        if value.is_floating_point() and value.ndim > 1:
            value.mul_(4)
    network.save_pretrained(folder)
    processor.save_pretrained(folder)
    return network.eval()
