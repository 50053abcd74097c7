/** How swc compiles our TypeScript, and ESM-only packages, to CommonJS: for Jest and for child processes. */
exports.swcOptions = (syntax) => {
  const typescript = syntax === 'typescript';
  return {
    swcrc: false,
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: typescript ? { syntax, decorators: true, dynamicImport: true } : { syntax },
      transform: typescript ? { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false } : {},
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  };
};
