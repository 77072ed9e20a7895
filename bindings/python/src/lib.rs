//! The Rust half of the Python package `deadloop`: guards. What touches clients
//! and frameworks is Python, in `python/deadloop`; `_deadloop.pyi` says what each thing here does.

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
