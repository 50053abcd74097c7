/** The options and the arguments that a command got. An option without a value is true. */
export type Given = Readonly<Partial<Record<string, string | boolean>>>;

/** A command of `npx svc-auth`, of the console, or of both. Those of the console can use the `Application`. */
export interface CommandDeclaration<Uses extends readonly unknown[] = []> {
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description: string }[];
  /** What each option does, by its flags: `-f, --force`, or `--env <path>` for one with a value. */
  readonly options?: Readonly<Record<string, string>>;
  /** @throws CommandRefused */
  run(given: Given, ...uses: Uses): Promise<unknown>;
}

/** Writes to the output of a command. */
export const print = (text: string): void => void process.stdout.write(text);
