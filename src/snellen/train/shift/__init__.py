"""Training against shifts of Volpi & Murino (2019, section 4): tuples of edits, drawn at random (RDA) or searched for where the
network does worst (RSDA, ESDA).

    --robust 'rda(set=cifar10, length=5)'
    --robust 'esda(set=cifar10, length=5, every=5, images=2000)'
"""
