/** What is asked of who finds places for stars. */
export interface LayoutQuestion {
  readonly id: number;
  readonly stars: readonly string[];
  readonly lines: readonly {
    readonly id: string;
    readonly from: string;
    readonly to: string;
    /** Of its label; 0 where it has none. */
    readonly width: number;
  }[];
  readonly direction: 'LR' | 'TB';
  readonly size: { readonly width: number; readonly height: number };
}

export interface LayoutAnswer {
  readonly id: number;
  readonly places: readonly { readonly id: string; readonly x: number; readonly y: number }[];
}
