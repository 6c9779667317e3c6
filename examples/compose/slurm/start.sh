#!/bin/bash
# The first process of each container of this bed: start.sh login|controller|node. The login node runs the peer, a
# controller slurmctld, and slurmdbd with its database if the site has one, and a node slurmd.
set -euo pipefail

# munge gives the daemons and commands of a site the identity of who calls, by a key that they share.
start_munge() {
	install -d -o munge -g munge -m 700 /etc/munge /var/lib/munge /var/log/munge
	install -d -o munge -g munge -m 755 /run/munge
	install -o munge -g munge -m 400 /slurm/munge.key /etc/munge/munge.key
	setpriv --reuid=munge --regid=munge --clear-groups munged
}

# start_database starts MariaDB and slurmdbd, and returns when they answer.
start_database() {
	install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
	[ -d /var/lib/mysql/mysql ] || mariadb-install-db --no-defaults --user=mysql --datadir=/var/lib/mysql --skip-test-db >/dev/null
	mariadbd --no-defaults --user=mysql --datadir=/var/lib/mysql --socket=/run/mysqld/mysqld.sock --skip-networking \
		--innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 &
	until mariadb --no-defaults --socket=/run/mysqld/mysqld.sock --execute='select 1' >/dev/null 2>&1; do sleep 0.2; done
	mariadb --no-defaults --socket=/run/mysqld/mysqld.sock <<-SQL
		create database if not exists slurm_acct;
		create user if not exists slurm@localhost identified via unix_socket;
		grant all on slurm_acct.* to slurm@localhost;
	SQL
	install -o slurm -g slurm -m 600 /slurm/slurmdbd.conf /etc/slurm/slurmdbd.conf
	slurmdbd -D &
	until (: <"/dev/tcp/$(hostname)/6819") 2>/dev/null; do sleep 0.2; done
}

# serve runs a daemon until it ends or the container is stopped, and fails if the daemon did. Meanwhile it reaps what others leave to
# the first process.
serve() {
	local code=0
	"$@" &
	trap 'kill $(jobs -p) 2>/dev/null || true' TERM
	wait -n || code=$?
	# shellcheck disable=SC2046 # a list of processes
	kill $(jobs -p) 2>/dev/null || true
	wait
	exit "$code"
}

install -d /etc/slurm
install -m 644 /slurm/slurm.conf /slurm/common.conf /slurm/cgroup.conf /etc/slurm
# slurmctld asks for the name of the address at which it listens, and there is no name server that would answer.
echo '0.0.0.0 any' >>/etc/hosts
install -d -o slurm -g slurm /var/lib/slurm /run/slurm
start_munge
case $1 in
login)
	install -d -m 711 /shared/switchyard
	install -d -m 755 /run/switchyard
	install -d -o ada -g ada /home/ada
	install -d -o gridguest -g gridguest /home/gridguest
	rm -rf /etc/switchyard
	cp -r /config /etc/switchyard
	chown -R root:root /etc/switchyard
	sed -i "s/ADDRESS/$(hostname -i)/" /etc/switchyard/network.toml
	switchyard slurm-commands /usr/local/lib/switchyard/bin
	# A peer that has never seen its Slurm does not start.
	until scontrol ping >/dev/null 2>&1; do sleep 0.2; done
	exec switchyard peer
	;;
controller)
	if grep -q '^JobCompLoc=' /etc/slurm/slurm.conf; then install -o slurm -g slurm -m 644 /dev/null /shared/jobcomp.log; fi
	if [ -e /slurm/slurmdbd.conf ]; then start_database; fi
	serve slurmctld -D
	;;
node)
	install -d /var/spool/slurmd
	# Before each job slurmd closes every file that it could have open: with the limit of some engines, a thousand million.
	ulimit -n 4096
	serve slurmd -D
	;;
esac
