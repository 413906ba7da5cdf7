# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Bash completion for perfsage: subcommands, options and events, which it gets by running perfsage.

# Prints the subcommands that "perfsage --help" lists.
_perfsage_commands() {
	"$1" --help 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

# Prints the options that "perfsage SUBCOMMAND --help" lists.
_perfsage_options() {
	"$1" "$2" --help 2> /dev/null | sed -n 's/^  \(-[A-Za-z]\), \(--[a-z-]*\).*/\1 \2/p; s/^      \(--[a-z-]*\).*/\1/p'
}

# Prints the names at the beginning of perfsage list's lines, without events that can't be counted. (u): counted in user space
# only; (t): not tried. Commas separate the names of one event.
_perfsage_events() {
	"$1" list --all 2> /dev/null | sed -n '/ opened: /q; s/^([ut])/   /; s/^ *\([A-Za-z][^ ,]*\(, [^ ]*\)*\) .*/\1/p' |
		sed 's/, /\n/g'
}

# Prints the names of metrics, which follow a mark or blanks in perfsage list --metrics, and the names of their groups.
_perfsage_metrics() {
	"$1" list --metrics 2> /dev/null | sed -n '/^Can.t be counted/q; s/^\(([0-9]*)\)\{0,1\} \{1,\}\([^ ]*\).*/\2/p'
}

_perfsage_groups() {
	"$1" list --metrics 2> /dev/null | sed -n '/^Can.t be counted/q; s/^\([^ :(]*\): .*/\1/p'
}

# Sets words to the words up to the cursor as the command will get them, and begins to the index of each in COMP_WORDS: bash
# splits words at ':' and '=' (COMP_WORDBREAKS). Sets kept to the text before the last split in the word at the cursor: bash
# doesn't replace this text, so it must be removed from the completions.
_perfsage_join_words() {
	local line=${COMP_LINE:0:COMP_POINT} index piece gap
	words=()
	begins=()
	for ((index = 0; index <= COMP_CWORD; index++)); do
		piece=${COMP_WORDS[index]}
		gap=${line%%[![:blank:]]*}
		# Ignore the part of the word after the cursor.
		((index < COMP_CWORD)) || piece=${line#"$gap"}
		line=${line#"$gap$piece"}
		kept=
		if [[ -n $gap || ${#words[@]} -eq 0 ]]; then
			words+=("$piece")
			begins+=("$index")
		else
			kept=${words[-1]}
			words[-1]+=$piece
		fi
	done
	[[ $piece == *[!:=]* ]] || kept=${words[-1]}
	kept=${kept//[\\\"\']/}
}

# Prints the index of COMMAND among the words of perfsage stat, timeline and place; nothing if the cursor is before it.
_perfsage_command_start() {
	local index
	for ((index = 2; index < ${#words[@]} - 1; index++)); do
		case ${words[index]} in
		--) echo $((index + 1)); return ;;
		-e | --event | -M | --metrics | -p | --pid | -C | --cpu | --cgroup | --method | --by | -I | --interval | --interval-count | -D | --delay | \
			--budget | --one-in | --region | -r | --repeat | --timeout | -o | --output | --heat | --heat-by | --trace | --rows | \
			--ring | --memory)
			((index++)) ;;
		-*) ;;
		*) echo "$index"; return ;;
		esac
	done
}

# Offers the words that begin with the text at the cursor.
_perfsage_offer() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# Offers file names. Only these may need quotes.
_perfsage_offer_files() {
	mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
	compopt -o filenames 2> /dev/null
}

# Offers names for the last item of a list with commas, and keeps the items before it.
_perfsage_offer_list() {
	local before=
	case $current in
	*,*) before=${current%,*}, ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${current##*,}")
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
	compopt -o nospace 2> /dev/null
}

# Offers the command to be counted; completes its arguments by its own completion. Fails if the cursor is before it.
_perfsage_offer_command() {
	local start function
	start=$(_perfsage_command_start)
	[[ -n $start ]] || return 1
	if ((${#words[@]} - 1 == start)); then
		_perfsage_offer_files -c
		return 0
	fi
	for function in _comp_command_offset _command_offset; do
		if declare -F "$function" > /dev/null; then
			# The command's completion handles kept itself.
			kept=
			"$function" "${begins[start]}"
			return 0
		fi
	done
	_perfsage_offer_files -f
	return 0
}

# Offers values of an option; fails if there are none.
_perfsage_offer_value() {
	case $1 in
	-e | --event) _perfsage_offer_list "$(_perfsage_events "$program")" ;;
	-M | --metrics)
		[[ $command == stat ]] || return 1
		_perfsage_offer_list "$(_perfsage_groups "$program") $(_perfsage_metrics "$program")"
		;;
	--heat-by) _perfsage_offer "$(_perfsage_metrics "$program") $(_perfsage_events "$program")" ;;
	-p | --pid) _perfsage_offer "$(cd /proc && echo [1-9]*)" ;;
	--by) _perfsage_offer "cpu core cache l1 l2 l3 l4 numa node die package socket group machine thread" ;;
	--method) _perfsage_offer "auto bpf cgroup looks per-cpu time-share whole" ;;
	-o | --output | --heat | --xml | --trace) _perfsage_offer_files -f ;;
	--cgroup) _perfsage_offer_files -d ;;
	--type | --from | --to | --where | --of | --group | --work | --format) ;;
	-C | --cpu | -I | --interval | --interval-count | -D | --delay | --budget | --one-in | --region | -r | \
		--repeat | --timeout | --synthetic | --rows | --ring | --memory) ;;
	*) return 1 ;;
	esac
	return 0
}

_perfsage_offer_word() {
	case $command,$current in
	*,-*) _perfsage_offer "$(_perfsage_options "$program" "$command")" ;;
	stat,* | timeline,* | place,*) _perfsage_offer_files -c ;;
	log,*)
		if ((${#words[@]} == 3)); then
			_perfsage_offer "show intervals cost convert"
		else
			_perfsage_offer_files -f
		fi
		;;
	help,*) _perfsage_offer "$(_perfsage_commands "$program")" ;;
	esac
}

_perfsage() {
	local program=$1 words begins kept current previous command
	_perfsage_join_words
	current=${words[-1]//[\\\"\']/}
	previous=${words[${#words[@]} > 1 ? ${#words[@]} - 2 : 0]}
	command=${words[1]-}
	COMPREPLY=()
	if ((${#words[@]} == 2)); then
		_perfsage_offer "$(_perfsage_commands "$program") --help --version"
	elif [[ $command != stat && $command != timeline && $command != place ]] || ! _perfsage_offer_command; then
		case $current in
		--*=*)
			local option=${current%%=*}
			current=${current#*=}
			_perfsage_offer_value "$option" && COMPREPLY=("${COMPREPLY[@]/#/$option=}")
			;;
		*) _perfsage_offer_value "$previous" || _perfsage_offer_word ;;
		esac
	fi
	COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -F _perfsage perfsage
