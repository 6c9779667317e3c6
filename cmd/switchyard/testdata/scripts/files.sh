#!/bin/bash
# Reads a file of its directory and writes another one.
#SBATCH -t 10
tr a-z A-Z <input.dat >output.dat
