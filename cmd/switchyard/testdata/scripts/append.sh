#!/bin/bash
# Its output goes behind what is in the file.
#SBATCH -o log.txt --open-mode=append
echo new
