#!/bin/bash
# Its output is to go into a directory that is not there.
#SBATCH -o logs/%x-%j.out
echo ran
