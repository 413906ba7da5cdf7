# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2207 # words of perfsage have no blanks
# Bash completion for perfsage: subcommands, options and events, as perfsage itself tells them.

# The subcommands that "perfsage --help" lists.
_perfsage_commands() {
	"$1" --help 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

# The options that "perfsage SUBCOMMAND --help" lists.
_perfsage_options() {
	"$1" "$2" --help 2> /dev/null | sed -n 's/^  \(-[A-Za-z]\), \(--[a-z-]*\).*/\1 \2/p; s/^      \(--[a-z-]*\).*/\1/p'
}

# The names that perfsage list begins its lines with, but for what can't be counted: (u) in user space, (t) not tried.
_perfsage_events() {
	"$1" list 2> /dev/null | sed -n '/ opened: /q; s/^([ut])/   /; s/^ *\([A-Za-z][^ ]*\) .*/\1/p'
}

# Where COMMAND begins in the words of perfsage stat; nothing if the cursor stands before it.
_perfsage_command_start() {
	local index word
	for ((index = 2; index < COMP_CWORD; index++)); do
		word=${COMP_WORDS[index]}
		case $word in
		--) echo $((index + 1)); return ;;
		-e | --event | -p | --pid | --by | -I | --interval | -r | --repeat | --timeout | -o | --output | --heat | --heat-by)
			((index++)) ;;
		-*) ;;
		*) echo "$index"; return ;;
		esac
	done
}

# One name of a list with commas: what comes before the last comma stays.
_perfsage_complete_event() {
	local program=$1 current=$2 before=
	case $current in
	*,*) before=${current%,*}, ;;
	esac
	COMPREPLY=($(compgen -W "$(_perfsage_events "$program")" -- "${current##*,}"))
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
	compopt -o nospace 2> /dev/null
}

_perfsage() {
	local program=$1 current=$2 previous=$3 start
	local command=${COMP_WORDS[1]-}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$(_perfsage_commands "$program") --help --version" -- "$current"))
		return
	fi
	if [[ $command == stat ]]; then
		start=$(_perfsage_command_start)
		if [[ -n $start ]]; then
			if ((COMP_CWORD == start)); then
				COMPREPLY=($(compgen -c -- "$current"))
			elif declare -F _command_offset > /dev/null; then
				_command_offset "$start"
			else
				COMPREPLY=($(compgen -f -- "$current"))
			fi
			return
		fi
	fi
	case $previous in
	-e | --event | --heat-by) _perfsage_complete_event "$program" "$current" ;;
	-p | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [1-9]*)" -- "$current")) ;;
	--by) COMPREPLY=($(compgen -W "thread core cache l1 l2 l3 l4 numa package machine" -- "$current")) ;;
	-o | --output | --heat | --xml) COMPREPLY=($(compgen -f -- "$current")) ;;
	-I | --interval | -r | --repeat | --timeout) ;;
	*)
		case $current in
		-*) COMPREPLY=($(compgen -W "$(_perfsage_options "$program" "$command")" -- "$current")) ;;
		*)
			case $command in
			stat) COMPREPLY=($(compgen -c -- "$current")) ;;
			doctor | list) ;;
			help) COMPREPLY=($(compgen -W "$(_perfsage_commands "$program")" -- "$current")) ;;
			*) COMPREPLY=($(compgen -f -- "$current")) ;;
			esac
			;;
		esac
		;;
	esac
}
complete -o filenames -F _perfsage perfsage
