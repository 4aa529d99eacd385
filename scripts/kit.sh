#!/bin/bash
# What `make kit` does: build/kit holds all that a machine without cargo and compilers needs to
# run the tests, the examples and the benchmarks. run.sh in it runs them.
set -eu
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
kit=build/kit
limit_mib=50
export PLAQ_CPU_ISAS=${PLAQ_CPU_ISAS:-all}

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/lib" "$kit/tests/bin" "$kit/tests/data"

make --no-print-directory lib examples PROFILE=kit
cp target/kit/libplaq.so "$kit/lib/libplaq.so.$MAJOR"
scripts/quda-home.sh "$kit/lib" "$kit/quda"
for program in build/kit-work/bin/*; do
  [ -f "$program" ] && install -s -m 755 "$program" "$kit/bin/"
done
[ -f include/plaq.h ] && scripts/examples.sh --list | grep -v '^04_ranks' >"$kit/examples.list"
older=(build/kit-work/glibc.o -Wl,--gc-sections)
# A client of QUDA's interface is in the kit, too.
${CC:-cc} -std=c99 -O2 -Iinclude -Iinclude/quda tests/clients/milc.c "${older[@]}" -s -o "$kit/bin/milc_client" \
  -L"$kit/quda/lib" -lquda -lm -Wl,-rpath,'$ORIGIN/../lib'
${CC:-cc} -std=gnu99 -O2 -Iinclude tests/ends/host.c "${older[@]}" -s -o "$kit/bin/ends_host" -ldl -lpthread \
  -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
cat >>"$kit/examples.list" <<'END'
milc_client
milc_client file $PLAQ_CONFIGS/milc.lat.sample.l4444 4 4 4 4 0.1 1.2 0
milc_client file $PLAQ_CONFIGS/milc.lat.sample.l4448.ll 4 4 4 8 0.12 1.2 1
END

log=build/kit-build.log
"$CARGO" test --no-run --profile kit --lib --test device --test program 2>&1 | tee "$log"
built() { sed -nE "s,^ *Executable $1 \((.*)\)$,\1,p" "$log"; }
cp "$(built 'unittests .*' | grep /plaq_core-)" "$kit/tests/bin/unit"
cp "$(built 'unittests .*' | grep /plaq-)" "$kit/tests/bin/unit_interface"
cp "$(built tests/device.rs)" "$kit/tests/bin/device"
cp "$(built tests/program.rs)" "$kit/tests/bin/program"
if [ -f benches/plaq.rs ]; then
  "$CARGO" bench --no-run --profile kit --bench plaq 2>&1 | tee "$log"
  cp "$(built benches/plaq.rs)" "$kit/bin/plaq_bench"
fi

[ -d tests/data ] && cp -r tests/data/. "$kit/tests/data/"
configs=${PLAQ_CONFIGS:-../shared/configs}
if [ -d "$configs" ]; then
  mkdir "$kit/configs"
  cp -r "$configs/." "$kit/configs/"
  chmod -R u+w "$kit/configs"
fi
glibc=$(scripts/glibc.sh "$kit"/lib/*.so* "$kit"/bin/* "$kit"/tests/bin/*)
# run.sh unpacks these programs. Each contains the kernels of all instruction sets; one archive, with a dictionary
# longer than a program, stores them only once.
XZ_OPT=--lzma2=preset=6,dict=64MiB tar -C "$kit" --remove-files -cJf "$kit/programs.tar.xz" \
  bin/plaq_bench tests/bin/unit tests/bin/unit_interface tests/bin/device tests/bin/program
cp scripts/kit-run.sh "$kit/run.sh"
cp scripts/ranks.sh "$kit/"
mkdir "$kit/studies"
cp scripts/studies/*.py "$kit/studies/"
cat >"$kit/README" <<END
plaq $VERSION, built on $(. /etc/os-release && echo "$PRETTY_NAME") for $(uname -m).
./run.sh runs the tests, the examples and the benchmarks on the GPU; ./run.sh --help says more.
It unpacks the test programs and bin/plaq_bench first.
quda is QUDA_HOME for MILC (docs/milc.md of the source tree).
studies/*.py run gaugefix on many gauge copies (docs/lab/studies.md of the source tree), multigrid.py propagator
over the quark mass (docs/multigrid.md), overlap.py overlap on quenched configurations,
hmc.py hmc, heatbath and flow (docs/lab/studies-hmc.md), chain.py averages logs of hmc; they need Python 3.
Needs: glibc $glibc or newer; for the GPU a CUDA 13 driver and NVRTC.
END

size=$(du -sm "$kit" | cut -f1)
echo "$kit: $size MiB"
if [ "$size" -ge $limit_mib ]; then
  echo "kit: more than $limit_mib MiB" >&2
  exit 1
fi
