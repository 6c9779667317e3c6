#!/bin/bash
# Works in another directory.
#SBATCH --chdir=sub
basename "$PWD"
cat notes.txt
echo written >here.txt
