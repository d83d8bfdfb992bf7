// Starts Swagger UI on GET /documentation. A key typed into "Authorize" lives in this page's memory and ends with it.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
})
