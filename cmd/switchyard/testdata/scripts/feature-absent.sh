#!/bin/bash
# Nodes with a feature that no node has.
#SBATCH -C a100
echo ran
