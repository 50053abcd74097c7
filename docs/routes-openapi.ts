/** The section of the page of routes about a document that a host generates. */
export const ABOUT_OPENAPI = `## OpenAPI

\`describeAuth\` of \`@svc/auth/openapi\` adds the routes of the library to the document that \`@nestjs/swagger\` creates for your application. The
document of the sample is [openapi.json](openapi.json); the sample serves it at \`/docs\` during development.

\`\`\`ts
const about = new DocumentBuilder().setTitle('Orders').setVersion('1').build();
const document = describeAuth(app, SwaggerModule.createDocument(app, about));
\`\`\`

| Part          | Content                                                                                                                                                                                                                             |
| ------------- | ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------- |
| routes        | all mounted routes: features that are off are absent, and every guard is below its own path. Bodies, cookies and headers follow the options \`username\`, \`cookieMode\`, \`confirm.header\` and \`hooks.registerRules\` of the application |
| operation ids | \`{guard}_{operation}\`, such as \`api_login\` and \`admin_login\`; [the names of the operations](#operations)                                                                                                         |
| failures      | all, with body and headers, including \`Retry-After\` and \`WWW-Authenticate\`                                                                                                                                                          |
| security      | \`{guard}_access_token\` and \`{guard}_confirmation\` for each guard, in cookie mode also \`{guard}_refresh_cookie\`, with [access keys](access-keys.md) \`{guard}_access_key\`                                                                                                                      |

Mark your own routes with \`@ApiSecurity('api_access_token')\`, and add \`'api_confirmation'\` for \`@RequireConfirmation()\`.

OpenAPI 3.0 and 3.1 are supported. The call returns a new document and does not change yours. Without the call, Swagger
lists the paths of the library without their bodies. \`@nestjs/swagger\` 11 or 12 is an optional peer dependency. The
library does not load it, so you can also pass a document from another source.

Limits: if two guards have the same path and differ only in their \`domain\`, the document has only one entry for both,
because OpenAPI distinguishes operations by path. If fields of \`hooks.registerRules\` depend on the request, the document
describes the body as any object.
`;
