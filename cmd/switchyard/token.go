package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "token",
		Annotations: anyPeer(),
		Short:       "Make, list and revoke tokens for the API over TCP",
		Long: "Make, list and revoke tokens for the API over TCP ([api] listen). A token lets a program, or a person on\n" +
			"another machine, act as one user of the site, within its scopes:\n" +
			"\n" +
			"  read     look at jobs, sites, history and output\n" +
			"  submit   submit jobs, ask for quotes, change and cancel the user's own jobs\n" +
			"  operate  what the user may do as an administrator of the site\n" +
			"\n" +
			"Tokens are made on the machine of the peer, and shown once. The site keeps a digest of each.",
		Example: "  switchyard token create --scopes=read,submit --out ~/.config/switchyard/token\n" +
			"  switchyard token list\n" +
			"  switchyard token revoke 4f1c09a7b2d3",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	return cmd
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var wanted api.NewToken
	var scopes, out string
	life := 30 * 24 * time.Hour
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token, and print it or write it to a file",
		Long: "Make a token and print it, or write it to a new file that only you may read. It cannot be shown again.\n" +
			"Root and the peer's account also make tokens for other users. Only administrators have the scope operate.",
		Example: "  switchyard token create --out ~/.config/switchyard/token\n" +
			"  switchyard token create --user=portal --scopes=read --lifetime=8760h --note='status page'",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if wanted.Scopes, err = accesstokens.ParseScopes(scopes); err != nil {
				return usage("--scopes: %w", err)
			}
			wanted.Life = protocol.DurationOf(life)
			return a.createToken(cmd.Context(), wanted, out)
		},
	}
	cmd.Flags().StringVar(&scopes, "scopes", "read,submit", "what the token is good for, a list with commas")
	cmd.Flags().DurationVar(&life, "lifetime", life, "time until the token expires, at most 366 days")
	cmd.Flags().StringVar(&wanted.User, "user", "", "user that the token stands for; unset: you")
	cmd.Flags().StringVar(&wanted.Note, "note", "", "what the token is for")
	cmd.Flags().StringVar(&out, "out", "", "write the token to this new file instead")
	return a.query(cmd)
}

func (a *app) createToken(ctx context.Context, wanted api.NewToken, out string) error {
	to := os.Stdout
	if out != "" { // first, so that no token is made in vain
		if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
			return fmt.Errorf("directory for the token: %w", err)
		}
		file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("file for the token: %w", err)
		}
		to = file
	}
	made, err := a.client().CreateToken(ctx, wanted)
	switch {
	case out == "" && err != nil:
		return err
	case out == "" && a.json:
		return a.printJSON(made)
	case out == "":
		a.printf("%s\n", made.Secret)
		a.notice("token %s of %s, scopes %s, expires %s; it cannot be shown again", made.Token.ID, made.Token.User, made.Token.Scopes, made.Token.Expires.Text())
		return nil
	case err != nil:
		return errors.Join(err, to.Close(), os.Remove(out))
	}
	_, err = fmt.Fprintln(to, made.Secret)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the token %s to %s: %w; revoke it: switchyard token revoke %s", made.Token.ID, out, err, made.Token.ID), os.Remove(out))
	}
	if a.json {
		return a.printJSON(made.Token)
	}
	a.notice("token %s of %s, scopes %s, expires %s, is in %s", made.Token.ID, made.Token.User, made.Token.Scopes, made.Token.Expires.Text(), out)
	return nil
}

func (a *app) tokenListCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List your tokens that have not expired",
		Example: "  switchyard token list\n  switchyard token list --all --json",
		Args:    noArgs,
	}
	cmd.Flags().BoolVar(&all, "all", false, "those of all users, for administrators")
	return lists(a, cmd, func(ctx context.Context, _ []string) ([]accesstokens.Token, error) {
		return a.client().Tokens(ctx, all)
	}, display.Tokens)
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID...",
		Short:   "Have tokens work no more",
		Example: "  switchyard token revoke 4f1c09a7b2d3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			for _, id := range args {
				err = errors.Join(err, a.client().RevokeToken(cmd.Context(), id))
			}
			return err
		},
	}
}
