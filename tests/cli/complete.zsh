# SPDX-License-Identifier: BSD-3-Clause
# usage: zsh -f complete.zsh FOLDER LINE: what Tab offers after LINE, a word per line; FOLDER holds the completion as _kugel.
# An interactive zsh runs in a terminal of its own, where compadd, by which every completion ends, prints what matches.
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT= RPROMPT= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D
compadd() { local -a hits; case \" \$* \" in *\ -[AOD]\ *) builtin compadd \"\$@\"; return;; esac
builtin compadd -A hits \"\$@\"; print -l -- MATCH:\$^hits; builtin compadd \"\$@\" }
finish() { print FINISH:ED }; zle -N finish; bindkey '^X' finish; print READY:NOW"
zpty -r z text '*READY:NOW*'
zpty -w -n z "$2"$'\t\x18'
zpty -r z text '*FINISH:ED*'
zpty -d z
print -r -- "$text" | tr -d '\r' | sed -n 's/.*MATCH:\([^ ]*\).*/\1/p' | sort -u
