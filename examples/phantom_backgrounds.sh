#!/usr/bin/env bash
# Xiao et al. 2021 on the phantom world, from a VOC export to the grid of table 5: examples/phantom_backgrounds.sh runs/phantom
# A command that ended is not repeated, one that was stopped goes on. docs/results/backgrounds.md says what comes out.
set -euo pipefail
out=${1:-runs/phantom-backgrounds}
mkdir -p "$out" && cd "$out"
world='size=48&object_size=0.35..0.6'

# Photos with boxes and masks as any labelled set has them; in the test world every class has a scene of its own.
snellen build phantom --format voc --out voc-train --world "phantom:train?$world&n=600&background_bias=0.8" -q
snellen build phantom --format voc --out voc-test --world "phantom:test?$world&n=240&background_bias=1" -q

# The nine variants: the test set with GrabCut's masks, the training set with the true ones.
small=(--classes all --size 48 --scale 48)
snellen build in9 --data voc:voc-test "${small[@]}" --segment-size 192 --out variants-test
snellen build in9 --data 'voc:voc-train?masks=true' "${small[@]}" --masks data --split train --out variants-train

# Trained on each, tested on each; amounts of data; how fine the classes are.
tests=(--test mixed_same=in9:variants-test/mixed_same --test mixed_rand=in9:variants-test/mixed_rand)
snellen sweep variants smallnet --in9 variants-train --in9-test variants-test --out grid
snellen sweep amount smallnet --data 'in9:variants-train/original?split=train' --amounts 150,300,600 "${tests[@]}" --out amounts
snellen sweep grain smallnet --data "phantom:train?$world&n=600&background_bias=0.8" --by texture --grains 1,2,4 \
    "${tests[@]}" --out grains

# An observer of the scene alone beside two of the networks: what the background does, and which backgrounds fool them.
models=(observer:background original=grid/models/original/*.safetensors mixed_rand=grid/models/mixed_rand/*.safetensors)
snellen audit "${models[@]}" --data in9:variants-test/original --audits background --out audit
snellen audit "${models[@]}" --data in9:variants-test/original --audits 'adversarial_backgrounds(rates=true)' --out adversarial
