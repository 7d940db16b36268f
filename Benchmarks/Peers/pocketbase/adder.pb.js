// The peer of addNumbers as a JavaScript route of PocketBase.
routerAdd("POST", "/addNumbers", (event) => {
  const { firstNumber, secondNumber } = event.requestInfo().body.data;
  if (typeof firstNumber !== "number" || typeof secondNumber !== "number") throw new BadRequestError("two numbers are needed");
  return event.json(200, { result: { firstNumber, secondNumber, operator: "+", operationResult: firstNumber + secondNumber } });
});
