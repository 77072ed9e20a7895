//! The Rust half of the Python package `deadloop`: guards.
//!
//! The code for clients and frameworks is Python, in `python/deadloop`. `_deadloop.pyi` documents each class and
//! function.

mod guard;
mod live;
mod scan;

use pyo3::prelude::*;

#[pymodule]
fn _deadloop(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<guard::Guards>()?;
    module.add_class::<guard::Guard>()?;
    module.add_class::<live::Live>()?;
    module.add_class::<live::Chunks>()
}
