//! Trials of launch shapes (block sizes) during normal work, for kernels that take much time. Only launches that are
//! needed anyway are timed and none is repeated, so that this also works for kernels that change what they read; first
//! calls do not wait for trials.

/// An amount of work: number of sites and of batches.
pub type Amount = (usize, usize);

/// Number of launches of a kernel before the first one that is timed.
const WARM: u32 = 8;
const SAMPLED: u32 = 2;
/// Number of launches of each shape that is tried; the first one loads its code.
const TRIED: usize = 6;
/// Largest number of different amounts of work that are kept.
const MAX_AMOUNTS: usize = 32;
/// A shape counts as better if it takes at most this fraction of the first shape's time; smaller differences are within
/// the errors of timing.
const BETTER: f64 = 0.97;

/// The use of a launch while launch shapes are compared.
#[derive(Debug, PartialEq)]
pub enum Purpose {
    Work,
    /// Time the launch with the shape of this number; 0 is the first shape.
    Time(usize),
    /// Compile the kernel in the other shapes.
    Compile,
}

struct Seen {
    work: Amount,
    launches: u32,
    seconds: f64,
}

enum Stage {
    /// Times of launches are added up for each amount of work until one has taken long.
    Watching(Vec<Seen>),
    /// The other shapes are being compiled for this amount of work.
    Waiting(Amount),
    Trying {
        work: Amount,
        turn: usize,
        seconds: Vec<f64>,
    },
    Over,
}

/// The search for a kernel's fastest launch shape.
pub struct Trial {
    patience: f64,
    stage: Stage,
}

impl Trial {
    /// Makes a search that begins after the kernel has taken `patience` seconds.
    pub fn new(patience: f64) -> Trial {
        Trial { patience, stage: Stage::Watching(Vec::new()) }
    }

    pub fn next(&mut self, work: Amount) -> Purpose {
        match &mut self.stage {
            Stage::Watching(all) => {
                let at = all.iter().position(|seen| seen.work == work).unwrap_or_else(|| {
                    all.push(Seen { work, launches: 0, seconds: f64::INFINITY });
                    all.len() - 1
                });
                if at >= MAX_AMOUNTS {
                    self.stage = Stage::Over;
                    return Purpose::Work;
                }
                let seen = &mut all[at];
                seen.launches += 1;
                if (WARM + 1..=WARM + SAMPLED).contains(&seen.launches) {
                    return Purpose::Time(0);
                }
                let known = seen.seconds < f64::INFINITY;
                if !known || f64::from(seen.launches) * seen.seconds < self.patience {
                    return Purpose::Work;
                }
                self.stage = Stage::Waiting(work);
                Purpose::Compile
            }
            Stage::Trying { work: tried, turn, seconds } if *tried == work => {
                let which = *turn % seconds.len();
                *turn += 1;
                Purpose::Time(which)
            }
            _ => Purpose::Work,
        }
    }

    /// Whether the other shapes have to be compiled now.
    pub fn waits(&self) -> bool {
        matches!(self.stage, Stage::Waiting(_))
    }

    /// Starts to try `shapes` shapes, including the first one.
    pub fn begin(&mut self, shapes: usize) {
        if let Stage::Waiting(work) = self.stage {
            self.stage = Stage::Trying { work, turn: 0, seconds: vec![f64::INFINITY; shapes] };
        }
    }

    /// Records the time of a launch with one of the shapes; at the end returns the fastest shape and its seconds.
    pub fn timed(&mut self, work: Amount, which: usize, took: f64) -> Option<(usize, f64)> {
        match &mut self.stage {
            Stage::Watching(all) => {
                let seen = all.iter_mut().find(|seen| seen.work == work)?;
                seen.seconds = seen.seconds.min(took);
                None
            }
            Stage::Trying { turn, seconds, .. } => {
                seconds[which] = seconds[which].min(took);
                if *turn < seconds.len() * TRIED {
                    return None;
                }
                let fastest = (0..seconds.len()).min_by(|&a, &b| seconds[a].total_cmp(&seconds[b]));
                let best = fastest.filter(|&k| seconds[k] < BETTER * seconds[0]).unwrap_or(0);
                let found = (best, seconds[best]);
                self.stage = Stage::Over;
                Some(found)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes launches that take `seconds[shape]` until the trial ends; returns their number, and the fastest shape.
    fn run(patience: f64, seconds: &[f64]) -> (u32, usize) {
        let mut trial = Trial::new(patience);
        for launch in 1.. {
            match trial.next((64, 2)) {
                Purpose::Time(which) => {
                    if let Some((best, took)) = trial.timed((64, 2), which, seconds[which]) {
                        assert_eq!(took, seconds[best]);
                        assert_eq!(trial.next((64, 2)), Purpose::Work);
                        return (launch, best);
                    }
                }
                Purpose::Compile => trial.begin(seconds.len()),
                Purpose::Work => assert!(launch < 10_000, "it never begins"),
            }
        }
        unreachable!()
    }

    #[test]
    fn the_fastest_shape_is_found_once_a_kernel_has_taken_long() {
        // 200 launches until it begins, six of each shape then.
        assert_eq!(run(2.0, &[0.01, 0.012, 0.009]), (200 + 18, 2));
        assert_eq!(run(2.0, &[0.01, 0.00985]), (200 + 12, 0), "no more than errors");
        assert_eq!(run(0.0, &[0.01, 0.005]).1, 1);
    }

    #[test]
    fn amounts_of_work_are_told_apart() {
        let mut trial = Trial::new(1.0);
        let mut other = 0;
        let began = (0..).find(|_| {
            other += u32::from(trial.next((8, 1)) == Purpose::Compile);
            match trial.next((64, 1)) {
                Purpose::Time(0) => assert!(trial.timed((64, 1), 0, 0.1).is_none()),
                Purpose::Compile => return true,
                _ => {}
            }
            false
        });
        // The durations of the small launches are unknown.
        assert_eq!((began, other), (Some(10), 0));
        assert!(trial.waits());
        trial.begin(2);
        assert_eq!(trial.next((8, 1)), Purpose::Work);
        assert_eq!(trial.next((64, 1)), Purpose::Time(0));
        assert_eq!(trial.next((64, 1)), Purpose::Time(1));
    }
}
