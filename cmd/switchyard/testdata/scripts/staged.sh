#!/bin/bash
# Reads a file of its directory and writes another one, and names both for other sites.
#SBATCH -t 10
#SWITCHYARD --stage-in=input.dat --stage-out=output.dat
tr a-z A-Z <input.dat >output.dat
