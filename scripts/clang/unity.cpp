// A unity file: sources that are included, so the headers below these are theirs.
#include "areas.cpp"
#include "powers.cpp"

int main(int count, char **) {
    Matrix<double, 8> matrix{};
    return int(areas(count) + powers(matrix, unsigned(count)));
}
