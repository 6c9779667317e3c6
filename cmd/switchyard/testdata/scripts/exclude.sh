#!/bin/bash
# Not on a node.
#SBATCH --exclude=a2
echo ran
