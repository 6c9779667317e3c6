# Arguments of the script.
cat >args.sh <<'END'
#!/bin/bash
printf '<%s>' "$@"
END
sbatch --wait args.sh one 'two words' '$three'
