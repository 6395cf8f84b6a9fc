#include "matrix.hpp"

double powers(const Matrix<double, 8> &matrix, unsigned exponent) {
    return power(matrix, exponent) + power(matrix.as<float>(), exponent) + double(power(matrix.as<int>(), exponent)) +
           double(power(matrix.as<long>(), exponent)) + trace(matrix * matrix);
}
