#!/bin/bash
# Reads its standard input without having named one.
#SBATCH -t 5
read -r line || echo "nothing to read"
