/** Holds the next one who passes, from {@link shut} until it is opened; all others pass. */
export class Gate {
  private hold?: () => Promise<void>;

  /** @returns `reached` once someone stands before it, and what opens it */
  shut(): { reached: Promise<void>; open: () => void } {
    let [arrive, open] = [(): void => undefined, (): void => undefined];
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.hold = () => {
      this.hold = undefined;
      arrive();
      return opened;
    };
    return { reached, open: () => open() };
  }

  async pass(): Promise<void> {
    await this.hold?.();
  }
}

/** Runs `meanwhile` while `request` stands before the gate, and resolves to its answer. */
export async function whileHeld<T>(
  gate: Gate,
  request: PromiseLike<T>,
  meanwhile: () => PromiseLike<unknown>,
): Promise<T> {
  const { reached, open } = gate.shut();
  // A request is sent when it is awaited.
  const answer = Promise.resolve(request);
  await Promise.race([reached, answer]);
  try {
    await meanwhile();
  } finally {
    open();
  }
  return answer;
}
