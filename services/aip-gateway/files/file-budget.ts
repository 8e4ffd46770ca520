/** Transfers of all connections of a gateway together: each may hold a window of a file in memory. */
export class FileBudget {
  #left: number;

  constructor(transfersMax: number) {
    this.#left = transfersMax;
  }

  /** False: there is no room now. What is taken is given back once. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  give(): void {
    this.#left++;
  }
}
