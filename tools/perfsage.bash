# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Bash completion for perfsage: subcommands, options and events, as perfsage itself tells them.

# The subcommands that "perfsage --help" lists.
_perfsage_commands() {
	"$1" --help 2> /dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

# The options that "perfsage SUBCOMMAND --help" lists.
_perfsage_options() {
	"$1" "$2" --help 2> /dev/null | sed -n 's/^  \(-[A-Za-z]\), \(--[a-z-]*\).*/\1 \2/p; s/^      \(--[a-z-]*\).*/\1/p'
}

# The names that perfsage list begins its lines with, but for what can't be counted: (u) in user space, (t) not tried. Names
# of one event have commas between them.
_perfsage_events() {
	"$1" list --all 2> /dev/null | sed -n '/ opened: /q; s/^([ut])/   /; s/^ *\([A-Za-z][^ ,]*\(, [^ ]*\)*\) .*/\1/p' |
		sed 's/, /\n/g'
}

# The names of metrics, as perfsage list --metrics has them behind a mark or blanks; and of their groups.
_perfsage_metrics() {
	"$1" list --metrics 2> /dev/null | sed -n '/^Can.t be counted/q; s/^\(([0-9]*)\)\{0,1\} \{1,\}\([^ ]*\).*/\2/p'
}

_perfsage_groups() {
	"$1" list --metrics 2> /dev/null | sed -n '/^Can.t be counted/q; s/^\([^ :(]*\): .*/\1/p'
}

# The words up to the cursor as the command will get them, into words, and where each begins in COMP_WORDS, into begins:
# bash takes words apart at ':' and '=' (COMP_WORDBREAKS). What stands before the last such place in the word at the cursor
# is not replaced, so it must not be in what is offered: into kept.
_perfsage_join_words() {
	local line=${COMP_LINE:0:COMP_POINT} index piece gap
	words=()
	begins=()
	for ((index = 0; index <= COMP_CWORD; index++)); do
		piece=${COMP_WORDS[index]}
		gap=${line%%[![:blank:]]*}
		# The word at the cursor may go on behind it.
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

# Where COMMAND begins, among the words of perfsage stat, timeline and place; nothing if the cursor stands before it.
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

# Offers those of the words that begin with what stands at the cursor.
_perfsage_offer() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# Names of files are the only ones that may need quotes.
_perfsage_offer_files() {
	mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
	compopt -o filenames 2> /dev/null
}

# One name of a list with commas: what comes before the last comma stays.
_perfsage_offer_list() {
	local before=
	case $current in
	*,*) before=${current%,*}, ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${current##*,}")
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
	compopt -o nospace 2> /dev/null
}

# The command to be counted, and its own words by its own completion. Fails if the cursor stands before it.
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
			# They take what is kept into account by themselves.
			kept=
			"$function" "${begins[start]}"
			return 0
		fi
	done
	_perfsage_offer_files -f
	return 0
}

# The value of an option; fails if it has none.
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
