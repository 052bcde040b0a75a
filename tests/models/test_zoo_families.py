"""The networks one by one: what their papers say of them, and other libraries' layers with the same weights."""

from __future__ import annotations

import pytest
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn
from torchvision import models

from snellen.models.zoo import build
from snellen.models.zoo.bagnet import BagNet
from snellen.models.zoo.densenet import DenseNetBC
from snellen.models.zoo.fc_densenet import FCDenseNet
from snellen.models.zoo.preact import PreActBlock, WideResNet
from snellen.models.zoo.pyramidnet import PyramidBlock, PyramidNet

PATCHES = {"bagnet9": 9, "bagnet17": 17, "bagnet33": 33}


def outline(name: str, classes: int = 10) -> nn.Module:
    with torch.device("meta"):
        return build(name, classes)


def seen(network: BagNet, size: int, row: int, column: int) -> Tensor:
    """Which pixels [size, size] the logits of one patch depend on, by their gradients."""
    torch.manual_seed(0)
    images = torch.rand(1, 3, size, size, dtype=torch.float64, requires_grad=True)
    network.double().evidence(images)[0, :, row, column].square().sum().backward()
    assert images.grad is not None
    return images.grad[0].abs().sum(0) > 0


def extent(mask: Tensor) -> tuple[int, int, int, int]:
    """First row, first column, height and width of what is set."""
    rows, columns = mask.any(1).nonzero().flatten(), mask.any(0).nonzero().flatten()
    return int(rows[0]), int(columns[0]), int(rows[-1] - rows[0]) + 1, int(columns[-1] - columns[0]) + 1


@pytest.mark.parametrize("name", PATCHES)
def test_a_place_of_a_bagnet_sees_the_published_patch(name):
    """On 104 px, above the size that is padded: patch (i, j) begins at pixel (8 i, 8 j)."""
    network = build(name, 4).eval()
    patch = PATCHES[name]
    assert network.patch == patch
    assert extent(seen(network, 104, 2, 3)) == (16, 24, patch, patch)


@pytest.mark.parametrize("name", PATCHES)
def test_a_bagnet_sees_every_pixel_of_a_small_image(name):
    network, patch = build(name, 4).eval(), PATCHES[name]
    torch.manual_seed(0)
    images = torch.rand(1, 3, 32, 32, dtype=torch.float64, requires_grad=True)
    network.double()(images).square().sum().backward()
    assert (images.grad[0].abs().sum(0) > 0).all()
    places = network.evidence(images).shape[2]
    assert (places - 1) * 8 + patch >= 32
    assert all(side <= patch for side in extent(seen(network, 32, 0, places - 1))[2:])


def test_a_bagnet_answers_with_the_mean_of_its_patches_and_has_24_times_24_of_them_at_224_px():
    torch.manual_seed(0)
    network, images = build("bagnet9", 5).eval(), torch.rand(2, 3, 64, 40)
    torch.testing.assert_close(network.evidence(images).mean((2, 3)), network(images), atol=1e-4, rtol=1e-4)
    shape = outline("bagnet33", 1000).evidence(torch.empty(1, 3, 224, 224, device="meta")).shape
    assert list(shape) == [1, 1000, 24, 24]


def test_a_bagnets_weights_are_named_as_those_of_a_resnet50_with_one_convolution_more():
    """The names of the authors' PyTorch files."""
    with torch.device("meta"):
        theirs = models.resnet50(weights=None)
    assert set(outline("bagnet33").state_dict()) == set(theirs.state_dict()) | {"conv2.weight"}


def test_dense_blocks_answer_as_those_of_torchvision():
    """torchvision's DenseNet has another stem: what follows it gets the same weights and the same features."""
    torch.manual_seed(0)
    ours = DenseNetBC(22, 4, 6).eval()
    theirs = models.DenseNet(4, (3, 3, 3), 8, num_classes=6).eval()
    rest = nn.Sequential(*list(theirs.features)[4:])
    with torch.no_grad():
        for mine, other in zip([*ours.stages.parameters(), *ours.bn.parameters()], rest.parameters(), strict=True):
            other.copy_(mine.uniform_(-0.5, 1))
        theirs.classifier.load_state_dict(ours.linear.state_dict())
        images = torch.rand(2, 3, 32, 32)
        expected = theirs.classifier(rest(ours.conv1(images)).relu().mean((2, 3)))
        torch.testing.assert_close(ours(images), expected)


def test_a_wide_resnet_has_as_many_convolutions_as_its_name_says():
    """28 = the stem, 12 blocks of two and three shortcuts; the widest stage has 64 × 10 channels."""
    network = outline("wide_resnet28_10")
    kernels = [m.kernel_size for m in network.modules() if isinstance(m, nn.Conv2d)]
    assert (kernels.count((3, 3)), kernels.count((1, 1))) == (1 + 24, 3)
    assert network.linear.in_features == 640


def test_pyramid_channels_grow_evenly_to_16_plus_alpha():
    """Equation 3 of Han et al.: 16, then 84 / 54 more with each block; the bottlenecks end in 4 × (16 + 240)."""
    network = outline("pyramidnet110")
    widths = [block.change[-1].num_features for block in network.blocks]
    assert widths[:4] == [18, 19, 21, 22]
    assert (len(widths), widths[-1]) == (54, 100)
    assert outline("pyramidnet200").linear.in_features == 1024


def test_a_pyramid_block_that_changes_nothing_keeps_its_input_and_pads_channels_with_zeros():
    block = PyramidBlock(5, 8, 2, bottleneck=False).eval()
    nn.init.zeros_(block.change[-1].weight)
    features = torch.rand(2, 5, 6, 6)
    with torch.inference_mode():
        answer = block(features)
    assert torch.equal(answer[:, 5:], torch.zeros(2, 3, 3, 3))
    torch.testing.assert_close(answer[:, :5], features.unflatten(3, (3, 2)).unflatten(2, (3, 2)).mean((3, 5)))


@pytest.mark.parametrize(
    ("bottleneck", "order"),
    [
        (False, "BatchNorm2d Conv2d BatchNorm2d ReLU Conv2d BatchNorm2d"),
        (True, "BatchNorm2d Conv2d BatchNorm2d ReLU Conv2d BatchNorm2d ReLU Conv2d BatchNorm2d"),
    ],
)
def test_a_pyramid_block_has_no_relu_before_its_first_convolution_and_a_norm_at_its_end(bottleneck, order):
    """Figure 6d of Han et al.: more than the count of weights can tell."""
    block = PyramidBlock(5, 8, 2, bottleneck)
    assert [type(part).__name__ for part in block.change] == order.split()


def test_first_convolutions_keep_the_variance_of_gradients():
    """A 3×3 convolution to 256 channels is drawn with the variance 2 / (9 × 256)."""
    torch.manual_seed(0)
    weight = build("wide_resnet16_4", 10).layer3[1].conv2.weight
    assert float(weight.detach().std()) == pytest.approx((2 / (9 * 256)) ** 0.5, rel=0.01)


def test_the_tiramisu_has_the_channels_of_its_table():
    """Table 2 of Jégou et al. for FC-DenseNet103; its 578 is 304 + 160 + 112 = 576."""
    network = outline("fc_densenet103", 11)
    down = [pool[0][0].num_features for pool in network.pools]
    assert down == [112, 192, 304, 464, 656]
    last = [block.layers[-1][0].num_features + 16 for block in (network.bottom, *network.up)]
    assert last == [896, 1088, 816, 576, 384, 256]
    assert network.classifier.in_channels == 256
    convolutions = sum(isinstance(m, nn.Conv2d | nn.ConvTranspose2d) for m in network.modules())
    assert convolutions == 103


@pytest.mark.parametrize(("name", "layers"), [("fc_densenet56", 56), ("fc_densenet67", 67)])
def test_a_tiramisu_has_as_many_convolutions_as_its_name_says(name, layers):
    assert sum(isinstance(m, nn.Conv2d | nn.ConvTranspose2d) for m in outline(name).modules()) == layers


def test_the_tiramisu_follows_a_shift_of_its_image():
    """Moved by 8 px, whole steps of the pooled features, the answer moves along wherever no edge is in sight."""
    torch.manual_seed(0)
    network = FCDenseNet((1, 1, 1), 4, 3).double().eval()
    image = torch.rand(1, 3, 64, 64, dtype=torch.float64)
    with torch.inference_mode():
        still, moved = network(image), network(image.roll(8, 3))
    torch.testing.assert_close(moved[..., 20:-12, 28:-12], still.roll(8, 3)[..., 20:-12, 28:-12])


def test_the_small_transformers_are_timms_with_one_token_per_patch():
    for patch, tokens in ((2, 257), (4, 65), (8, 17)):
        network = outline(f"vit_small_p{patch}")
        assert isinstance(network, VisionTransformer)
        assert network.forward_features(torch.empty(1, 3, 32, 32, device="meta")).shape == (1, tokens, 192)


def test_the_convnet_has_five_by_five_features_at_32_px_untouched_by_the_averaging():
    network = build("convnet", 10).eval()
    images = torch.rand(2, 3, 32, 32)
    with torch.inference_mode():
        bare = nn.Sequential(*list(network.features)[:6])(images)
        assert bare.shape == (2, 128, 5, 5)
        assert torch.equal(network.features(images), bare.flatten(1))


def test_preact_blocks_end_in_a_sum_so_that_pooled_features_may_be_negative():
    network = build("preact_resnet18", 2).eval()
    inputs: list[torch.Tensor] = []
    network.linear.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    network(torch.rand(2, 3, 32, 32))
    assert (inputs[0] < 0).any()


@pytest.mark.parametrize(("after_relu", "expected"), [(False, -3.0), (True, 0.0)])
def test_shortcuts_without_a_convolution_begin_behind_the_first_relu_in_the_code_of_fmix_only(after_relu, expected):
    block = PreActBlock(4, 4, 1, after_relu).eval()  # its BatchNorm has mean 0 and variance 1: it changes nothing
    nn.init.zeros_(block.conv2.weight)
    given = torch.tensor([-3.0, 2.0]).repeat(1, 4, 2, 1)
    shown = block(given)
    assert shown[..., 0].unique().tolist() == [expected]
    torch.testing.assert_close(shown[..., 1], given[..., 1], rtol=1e-5, atol=0)  # BatchNorm's epsilon


def test_shortcuts_with_a_convolution_begin_behind_the_first_relu_in_both():
    images = torch.randn(2, 4, 8, 8)
    torch.manual_seed(0)
    plain = PreActBlock(4, 8, 2).eval()
    other = PreActBlock(4, 8, 2, after_relu=True).eval()
    other.load_state_dict(plain.state_dict())
    assert torch.equal(plain(images), other(images))
    nn.init.zeros_(plain.conv2.weight)
    assert plain(-images.abs()).abs().max() == 0


def test_the_network_of_fmix_differs_from_the_plain_one_by_its_shortcuts_alone():
    plain, fmix = build("preact_resnet18", 3).eval(), build("preact_resnet18_fmix", 3).eval()
    fmix.load_state_dict(plain.state_dict())
    assert {block.after_relu for block in fmix.modules() if isinstance(block, PreActBlock)} == {True}
    assert {block.after_relu for block in plain.modules() if isinstance(block, PreActBlock)} == {False}
    images = torch.rand(2, 3, 32, 32)
    with torch.inference_mode():
        assert not torch.allclose(plain(images), fmix(images))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WideResNet(27, 10, 2), "expected a depth of 6 n \\+ 4, got 27"),
        (lambda: DenseNetBC(101, 12, 2), "expected a depth of 6 n \\+ 4, got 101"),
        (lambda: PyramidNet(111, 84, True, 2), "expected a depth of 9 n \\+ 2, got 111"),
        (lambda: BagNet(5, 2), "expected 2, 3 or 4 stages with a 3×3 convolution, got 5"),
        (lambda: FCDenseNet((4, 4), 12, 2), "expected an odd number of dense blocks, got 2"),
    ],
)
def test_impossible_depths_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
