#!/bin/bash
# On one switch of the network.
#SBATCH --switches=1
echo ran
