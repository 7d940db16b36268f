// The peer of addNumbers on Deno's own server, in the shape that its manual shows.
interface Call {
  data: { firstNumber: number; secondNumber: number };
}

function add({ data: { firstNumber, secondNumber } }: Call) {
  if (typeof firstNumber !== "number" || typeof secondNumber !== "number") throw new TypeError("two numbers are needed");
  return { result: { firstNumber, secondNumber, operator: "+", operationResult: firstNumber + secondNumber } };
}

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen: () => {} },
  async (request) => Response.json(add(await request.json())),
);
