//! Links the library as node requires on this system.

fn main() {
    napi_build::setup();
}
