# SPDX-License-Identifier: BSD-3-Clause
# Compares the interfaces of the Fortran module, its ps_value and its constants with the C headers.
#     awk -f fortran.awk HEADERS MODULE
# HEADERS are the public headers, preprocessed as perfsage(7) says for bindings. Prints a line for each difference, and for
# each line of the module that it can't parse; then "symbol NAME" for each function that the module names.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
# Returns a parameter's type without its name: "const char *name" -> "*char", "uint64_t *out" -> "*int64"; "**": a pointer
# to a handle.
function c_kind(text,   stars) {
	while (sub(/(^|[^a-z_])(const|struct)[ \t]+/, " ", text)) { }
	stars = gsub(/\*/, " ", text)
	sub(/^[ \t]*enum[ \t]+[a-z_]+/, "int", text)
	text = trim(text)
	if (text ~ /^long long/) text = "longlong"
	sub(/[ \t].*/, "", text)
	sub(/^uint/, "int", text); sub(/_t$/, "", text); sub(/^unsigned$/, "int", text)
	if (stars == 2) return "**"
	if (stars == 1 && text ~ /^ps_/ && text != "ps_value") return "*"
	return (stars == 1 ? "*" : "") text
}
function c_function(text,   name, result, arguments, n, each, i, kinds) {
	name = text; sub(/\(.*/, "", name); result = name
	sub(/.*[ *]/, "", name); sub(/ps_[a-z_]+$/, "", result)
	arguments = text; sub(/^[^(]*\(/, "", arguments); sub(/\)[ \t]*$/, "", arguments)
	kinds = c_kind(result)
	n = trim(arguments) == "void" ? 0 : split(arguments, each, ",")
	for (i = 1; i <= n; i++) kinds = kinds " " c_kind(each[i])
	in_c[name] = kinds
}
function c_members(text,   n, each, i) {
	sub(/^[^{]*\{/, "", text); sub(/\}.*/, "", text)
	n = split(text, each, ";")
	for (i = 1; i < n; i++) c_value = c_value " " c_kind(each[i])
}
# An enumerator without a number has the previous one's number plus 1.
function c_enum(text,   n, each, i, pair, value) {
	sub(/^[^{]*\{/, "", text); sub(/\}.*/, "", text)
	n = split(text, each, ","); value = -1
	for (i = 1; i <= n; i++) {
		if (split(each[i], pair, "=") == 2) {
			value = trim(pair[2])
			if (value ~ /<</) { sub(/.*<<[ \t]*/, "", value); value = 2 ^ value }
			value += 0
		} else
			value++
		enumerator[trim(pair[1])] = value
	}
}
function read_headers(text,   n, each, i, depth, part) {
	n = split(text, each, ";")
	for (i = 1; i <= n; i++) {
		part = part each[i] ";"
		if (gsub(/\{/, "{", part) > gsub(/\}/, "}", part)) continue
		sub(/;$/, "", part); part = trim(part)
		if (part ~ /^struct ps_value[ \t]*\{/) c_members(part)
		else if (part ~ /^enum[ \t]+[a-z_]+[ \t]*\{/) { sub(/^enum[ \t]+/, "", part); c_enum(part) }
		else if (part ~ /ps_[a-z_]+\(/) c_function(part)
		part = ""
	}
}

function f_kind(type,   kind) {
	if (type ~ /^type\(c_ptr\)/) return type ~ /value$/ ? "*" : "**"
	if (type ~ /^character\(kind=c_char\), intent\(in\)$/) return "*char"
	kind = type ~ /^type\(ps_value\)/ ? "ps_value" : type ~ /^real\(c_double\)/ ? "double" : ""
	if (type ~ /^integer\(c_[a-z0-9_]+\)/) {
		kind = type; sub(/^integer\(c_/, "", kind); sub(/\).*/, "", kind); sub(/_t$/, "", kind); sub(/_/, "", kind)
	}
	if (kind == "") print "line " FNR ": unknown type: " type
	return (type ~ /intent/ ? "*" : "") kind
}
function declare(line,   type, names, n, each, i) {
	type = line; sub(/ ::.*/, "", type); type = trim(type)
	names = line; sub(/.* :: /, "", names); gsub(/\(\*\)/, "", names)
	n = split(names, each, ", ")
	for (i = 1; i <= n; i++) kind_of[trim(each[i])] = f_kind(type)
}
function begin_function(line,   bound) {
	bound = result = line; sub(/(function|subroutine) .*/, "", result); result = trim(result)
	result = result == "" ? "void" : result == "type(c_ptr)" ? "*" : f_kind(result)
	name = line; sub(/.*(function|subroutine) /, "", name); arguments = name
	sub(/\(.*/, "", name); sub(/^[^(]*\(/, "", arguments); sub(/\).*/, "", arguments)
	symbol = sub(/.*bind\(C, name='/, "", bound) ? bound : name; sub(/'.*/, "", symbol)
	split("", kind_of)
}
function end_function(   n, each, i, kinds) {
	kinds = result
	n = split(arguments, each, ", ")
	for (i = 1; i <= n; i++) {
		if (!(each[i] in kind_of)) print name ": no type for " each[i]
		kinds = kinds " " kind_of[each[i]]
	}
	kinds_of[name] = in_module[symbol] = kinds
}
function compare(symbol,   n, ours, theirs, i) {
	if (!(symbol in in_c)) { print symbol ": not in the C headers"; return }
	if (split(in_module[symbol], ours, " ") != (n = split(in_c[symbol], theirs, " "))) {
		print symbol ": " split(in_module[symbol], ours, " ") - 1 " arguments, in C " n - 1
		return
	}
	# A type(c_ptr) by value matches any pointer, but not the first argument of a constructor.
	for (i = 1; i <= n; i++)
		if (ours[i] != theirs[i] && !(ours[i] == "*" && (theirs[i] ~ /^\*/ && theirs[i] != "**" || i > 2)))
			print symbol ": " (i == 1 ? "the result" : "argument " i - 1) " is " ours[i] ", in C " theirs[i]
}

NR == FNR { headers = headers " " $0; next }
FNR == 1 { read_headers(headers) }
/^ *!/ { next }
# The constants, which continue on the next line after "&".
/^  integer\(c_int(32_t)?\), parameter/ { constants = 1; sub(/.*::/, "") }
constants {
	n = split($0, each, ",")
	for (i = 1; i <= n; i++) if (split(each[i], pair, "=") == 2) {
		sub(/&/, "", pair[2]); constant[trim(pair[1])] = trim(pair[2]) + 0
	}
	if (!/&$/) constants = 0
	next
}
/^  type, bind\(C\) :: ps_value/ { in_value = 1; next }
in_value && /^  end type/ { in_value = 0; next }
in_value {
	type = names = $0; sub(/ ::.*/, "", type); sub(/.* :: /, "", names)
	n = split(names, each, ", ")
	for (i = 1; i <= n; i++) our_value = our_value " " f_kind(trim(type))
	next
}
/^  interface/ { in_interface = 1; next }
/^  end interface/ { in_interface = 0; next }
/^  procedure\(/ {
	template = $1; sub(/^procedure\(/, "", template); sub(/\).*/, "", template)
	symbol = $0; sub(/.*name='/, "", symbol); sub(/'.*/, "", symbol)
	if (!(template in kinds_of)) print "line " FNR ": unknown template: " template
	in_module[symbol] = kinds_of[template]
	next
}
!in_interface || /^      import/ { next }
/^    .*(function|subroutine) .*bind\(C/ && !/^    end / { begin_function($0); next }
/^      .* :: / { declare($0); next }
/^    end (function|subroutine)$/ { end_function(); next }
{ print "line " FNR ": can't be read: " trim($0) }

END {
	for (symbol in in_module) compare(symbol)
	if (our_value != c_value) print "ps_value is" our_value ", in C" c_value
	for (name in constant) {
		if (!(name in enumerator)) print name ": not in the C headers"
		else if (constant[name] != enumerator[name]) print name " is " constant[name] ", in C " enumerator[name]
		prefix[substr(name, 1, match(name, /^PS_(E|STATUS_|ATTRIBUTION_|ATTRIBUTE_|VALUE_|COMPONENT_|SHARE_|FORMAT_)/) ? RLENGTH : 0)]
	}
	# If the module has one enumerator of an enumeration, it must have all.
	for (name in enumerator)
		for (start in prefix)
			if (start != "" && index(name, start) == 1 && name !~ /^PS_EXPORT_/ && !(name in constant))
				print name ": missing in the module"
	for (symbol in in_module) print "symbol " symbol
}
