// client.mjs FEELER FOLDER: talks to feeler mcp by the official SDK. Prints one line for each thing that holds.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [feeler, folder] = process.argv.slice(2);
const transport = new StdioClientTransport({ command: feeler, args: ["mcp", folder], env: process.env });
const client = new Client({ name: "test", version: "1.0.0" });
const hold = (what, is) => console.log(`${is ? "holds" : "DOES NOT HOLD"}: ${what}`);

await client.connect(transport);
hold("the server says who it is", client.getServerVersion().name === "feeler");
const { tools } = await client.listTools();
hold("there are tools with schemas", tools.length >= 6 && tools.every((t) => t.inputSchema.type === "object"));

const call = (name, args) => client.callTool({ name, arguments: args });
const clashes = await call("clashes", { file: "scene.json", clearance: "1mm" });
const found = JSON.parse(clashes.content[0].text);
hold("clashes are found", !clashes.isError && found.findings === 1 && found.pairs[0].state === "near");
const picture = await call("picture", { file: "scene.json" });
const png = Buffer.from(picture.content.find((c) => c.type === "image").data, "base64");
hold("a picture is a PNG", png.subarray(1, 4).toString() === "PNG" && png.length > 2000);
const path = await call("removal_path", { file: "scene.json", time: 30 });
hold("a path is found", JSON.parse(path.content[0].text).found === true);
hold("it is given as poses", path.content[1].resource.text.trim().split("\n").length >= 2);
const page = await call("clash_report", { file: "scene.json", clearance: "1mm" });
hold("a report is a page", page.content[1].resource.text.includes("<html"));
const denied = await call("open_assembly", { file: "/etc/passwd" });
hold("other files are denied", denied.isError && denied.content[0].text.includes("no such file"));
const info = await call("open_assembly", { file: "scene.json" });
hold("an assembly is opened", JSON.parse(info.content[0].text).files[0].parts.length === 2);
const step = await call("open_assembly", { file: "arm.urdf" });
hold("a robot is opened, or the system cannot confine it",
  step.isError ? step.content[0].text.includes("landlock") : JSON.parse(step.content[0].text).files[0].joints.length === 1);
// a search that would take an hour: its progress is heard, then it is given up, and the server goes on
const stop = new AbortController(), heard = [];
let gone = "";
const search = client.callTool({ name: "removal_path", arguments: { file: "closed.json", time: 3600 } }, undefined, {
  signal: stop.signal,
  onprogress: (now) => { heard.push(now); stop.abort("enough"); },
});
try { await search; } catch (error) { gone = String(error); }
hold("progress is heard", heard.length >= 1 && heard[0].progress > 0 && heard[0].message.length > 0);
hold("a call is cancelled", gone.includes("enough"));
await client.ping();
const after = await call("check_mesh", { file: "ball.stl" });
hold("the server goes on", JSON.parse(after.content[0].text).files[0].triangles > 0);
let refused = false;
try { await call("no_such_tool", {}); } catch (error) { refused = error.code === -32602; }
hold("unknown tools are refused", refused);
await client.close();
