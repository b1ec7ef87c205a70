//! Measures a command: `cargo run -p taskscale-measure --example measure_command -- /usr/bin/python3 -m http.server`.

use std::error::Error;

use taskscale_measure::{GroupRoot, Interrupt, LocalRunner, RunEnd, RunSpec, Runner, units};

fn main() -> Result<(), Box<dyn Error>> {
    taskscale_measure::init();
    let interrupt = Interrupt::install()?;
    let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt);
    let spec = RunSpec::of_command(std::env::args().skip(1));
    let RunEnd::Measured(run) = runner.run(&spec)? else { return Err("interrupted".into()) };
    println!("{}{}", run.status, run.reason.map(|reason| format!(": {reason}")).unwrap_or_default());
    if let Some(memory) = run.memory.plateau {
        let [all, kernel] = [memory.footprint_bytes, memory.kernel_bytes].map(units::bytes);
        println!("memory at rest: {all}, of it {kernel} of the kernel");
    }
    let peak = run.memory.peak_bytes.map_or("unknown".into(), units::bytes);
    println!("peak {}: {peak}", run.memory.source.peak_of());
    println!("CPU: {}", run.cpu.total_s().map_or("unknown".into(), units::seconds));
    Ok(())
}
