// The Worker: what was made for Go's program, and the rooms beside it.
export { default } from "../../app/edge/build/worker.mjs";
export { Room } from "./room.mjs";
