// Starts Swagger UI on GET /reference, for reading: no operation can be tried, and so nothing asks for a key.
const nothing = () => () => null
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: [],
  plugins: [{ wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
})
