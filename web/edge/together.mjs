// Serves the site with rooms on this machine, in the host's own runtime: what make together opens.
//
//	node together.mjs PORT
import { start } from "./edge.mjs";

const port = Number(process.argv[2] || 8080);
const { host, url } = await start((options) => Object.assign(options, { port }));
const setup = "#data=digits&together.parties=3&together.tolerance=2&num_examples=18000&steps=100&target_epsilon=3";
console.log(`Clipscope, with rooms, is at ${url}/
Open ${url}/${setup}
in a tab, press "Open room", and open the address that it shows in two others. Each tab draws digits of its own.`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => host.dispose());
