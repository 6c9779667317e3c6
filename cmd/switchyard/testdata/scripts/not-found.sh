#!/bin/bash
# Runs a program that is not there.
#SBATCH -t 5
no-such-program
