//! The number and rank of the processes that a launcher (mpirun, srun) has started, from environment variables that it
//! sets.

/// For each launcher the environment variable with the number of processes, and that with the rank of this process.
const VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// The processes that were launched together with this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    pub processes: usize,
    pub rank: usize,
    /// The environment variable that states the number of processes; None if no launcher is recognised.
    pub variable: Option<&'static str>,
}

/// Finds the launcher that states the largest number of processes, since one launcher may have started another.
pub fn launched() -> Launched {
    launched_by(|name| std::env::var(name).ok())
}

fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Launched {
    let number = |name| variable(name)?.trim().parse().ok();
    let found = VARIABLES.iter().filter_map(|(size, rank)| {
        let processes: usize = number(size)?;
        Some(Launched { processes, rank: number(rank).unwrap_or(0), variable: Some(size) })
    });
    let alone = Launched { processes: 1, rank: 0, variable: None };
    found.fold(alone, |max, one| if one.processes > max.processes { one } else { max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_variables_of_launchers() {
        let by = |all: &[(&str, &str)]| {
            launched_by(|name| Some(all.iter().find(|(n, _)| *n == name)?.1.to_string()))
        };
        let alone = Launched { processes: 1, rank: 0, variable: None };
        assert_eq!(by(&[]), alone);
        assert_eq!(by(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")]), alone);
        assert_eq!(by(&[("PMI_SIZE", "many")]), alone);
        let four = by(&[("PMI_SIZE", "4"), ("PMI_RANK", "3"), ("SLURM_STEP_NUM_TASKS", "1")]);
        assert_eq!(four, Launched { processes: 4, rank: 3, variable: Some("PMI_SIZE") });
        let two = by(&[("OMPI_COMM_WORLD_SIZE", " 2 ")]);
        assert_eq!(two, Launched { processes: 2, rank: 0, variable: Some("OMPI_COMM_WORLD_SIZE") });
    }
}
