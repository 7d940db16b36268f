// The peer of addNumbers on Node's own http module: collect the body, parse, check the types, add, answer.
import { createServer } from "node:http";

function add({ data: { firstNumber, secondNumber } }) {
  if (typeof firstNumber !== "number" || typeof secondNumber !== "number") throw new TypeError("two numbers are needed");
  return { result: { firstNumber, secondNumber, operator: "+", operationResult: firstNumber + secondNumber } };
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const answer = JSON.stringify(add(JSON.parse(Buffer.concat(chunks).toString())));
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[2]), "127.0.0.1");
