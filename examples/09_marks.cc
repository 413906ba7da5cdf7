// SPDX-License-Identifier: BSD-3-Clause
//
// A C++ program whose phases have names: marks, which need one header and no library.
//
//     c++ -O2 -pthread 09_marks.cc -o marks $(pkg-config --cflags perfsage)
//     ./marks
//     perfsage stat --regions ./marks
//
// By itself it runs as if there were no marks. perfsage stat --regions shows what each phase
// counted, in all threads, and how many rows it had; with --by numa, the counts of each NUMA node.
// The exception that ends the solver early leaves its regions, as any other end of a block does.
#include <perfsage/marks.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct converged {
	int rounds;
};

void assemble(std::vector<double> &matrix, std::vector<double> &x)
{
	PS_REGION("assemble") {
		PS_MARK_VALUE("rows", static_cast<std::int64_t>(x.size()));
		for (std::size_t row = 0; row < x.size(); row++) {
			x[row] = 1.0;
			for (std::size_t diagonal = 0; diagonal < 5; diagonal++)
				matrix[5 * row + diagonal] = diagonal == 2 ? 0.6 : 0.05;
		}
	}
}

double multiply(const std::vector<double> &matrix, std::vector<double> &x)
{
	double change = 0;

	PS_REGION("multiply") {
		std::vector<double> y(x.size());
		for (std::size_t row = 0; row < x.size(); row++) {
			for (std::size_t diagonal = 0; diagonal < 5; diagonal++)
				y[row] += matrix[5 * row + diagonal] *
				          x[(row + 7 * diagonal) % x.size()];
			change = std::fmax(change, std::fabs(y[row] - x[row]));
		}
		x.swap(y);
	}
	return change;
}

[[noreturn]] void solve(const std::vector<double> &matrix, std::vector<double> &x)
{
	PS_REGION("solve") {
		for (int round = 1;; round++) {
			if (multiply(matrix, x) < 1e-3)
				throw converged{round};
		}
	}
	throw converged{0}; // never reached: the region's block is left by the exception
}

void work(std::size_t rows, int *rounds)
{
	std::vector<double> matrix(5 * rows), x(rows);

	assemble(matrix, x);
	try {
		solve(matrix, x);
	} catch (const converged &end) {
		*rounds = end.rounds;
	}
}

} // namespace

int main()
{
	const std::size_t rows = 50000;
	std::vector<std::thread> team;
	int rounds[2] = {0, 0};

	for (int *one : {&rounds[0], &rounds[1]})
		team.emplace_back(work, rows, one);
	for (std::thread &member : team)
		member.join();
	PS_REGION_BEGIN("report");
	std::printf("%zu rows: converged after %d and %d rounds\n", rows, rounds[0], rounds[1]);
	PS_REGION_END("report");
	return rounds[0] > 0 && rounds[0] == rounds[1] ? 0 : 1;
}
