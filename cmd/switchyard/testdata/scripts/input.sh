#!/bin/bash
# Reads a file as its standard input.
#SBATCH --input=input.dat
cat
