#!/bin/sh
# A component of the examples: the program of your own goes here.
echo "$SWITCHYARD_COMPONENT on $SLURM_NTASKS CPUs"
