#!/bin/bash
# A pattern for arrays in a job that is none.
#SBATCH -o result-%A.txt -e result-%A.err
echo out
echo err >&2
