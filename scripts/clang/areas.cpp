#include "shapes.h"

static_assert(Sum<Numbers<64>::type>::value == 2080);

template <int Corners> double area_of(double size) {
    Polygon<Corners> polygon;
    for (int at = 0; at < Corners; ++at) {
        polygon.points[at][0] = size * at;
        polygon.points[at][1] = size * (Corners - at);
    }
    return polygon.area() + (Corners > 3 ? area_of<(Corners > 3 ? Corners - 1 : 3)>(size) : 0);
}

double areas(double size) { return area_of<24>(size); }
