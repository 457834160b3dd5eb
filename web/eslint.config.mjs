// What the type checker does not see: code that runs and does not do what it
// says. Names that do not exist and calls that do not fit are tsc's (tsconfig*.json).
const rules = {
  "array-callback-return": "error",
  "eqeqeq": ["error", "always", { null: "ignore" }],
  "no-cond-assign": "error",
  "no-constant-condition": "error",
  "no-dupe-else-if": "error",
  "no-fallthrough": "error",
  "no-loss-of-precision": "error",
  "no-self-compare": "error",
  "no-sparse-arrays": "error",
  "no-template-curly-in-string": "error",
  "no-unreachable": "error",
  "no-unsafe-finally": "error",
  "no-unused-expressions": "error",
  "no-unused-private-class-members": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
  "no-useless-assignment": "error",
  "no-var": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  "valid-typeof": "error",
};

export default [
  { ignores: ["node_modules/", "bench/", "e2e/results/", "*.tmpl.js"] },
  { files: ["**/*.js", "**/*.mjs"], linterOptions: { reportUnusedDisableDirectives: "error" }, rules },
  { files: ["guard.js", "theme.js", "early.js"], languageOptions: { sourceType: "script" } },
];
