//! Writes what node loads of a library in WebAssembly, as the command `wasm-bindgen` does: `deadloop-glue LIBRARY.wasm FOLDER`. A
//! program of this workspace, so that one lock holds both halves at one version, which they must have.

use std::env::args;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = args().skip(1).collect();
    let [library, folder] = words.as_slice() else {
        return Err("expected a library and a folder".into());
    };
    Bindgen::new()
        .input_path(library)
        .out_name("deadloop")
        .nodejs(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)?;
    Ok(())
}
