import { describe, expect, it } from '@jest/globals';
import { amdCard, nvidiaCards, nvidiaDriver, nvidiaModel, rocmCards } from './gpus.js';

// Samples in the formats that the vendors document; none of them was recorded from a card here.

describe('nvidia-smi', () => {
  it('names a card a line', () =>
    expect(nvidiaCards('NVIDIA A100-SXM4-80GB, 81920, 550.54.15\nNVIDIA H100, PCIe, 81559, 550.54.15\n')).toEqual([
      { vendor: 'nvidia', name: 'NVIDIA A100-SXM4-80GB', memoryMb: 81_920, driver: '550.54.15' },
      { vendor: 'nvidia', name: 'NVIDIA H100, PCIe', memoryMb: 81_559, driver: '550.54.15' },
    ]));

  it.each([
    '',
    'No devices were found',
    'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver. Make sure that the latest, installed',
    ',,',
    ' , 1, 2',
  ])('that says %j names none, or nothing that is false', (text) =>
    expect(nvidiaCards(text).every(({ name, memoryMb }) => name !== '' && memoryMb === null)).toBe(true),
  );

  it('may not know how large one is', () =>
    expect(nvidiaCards('NVIDIA GB10, [N/A], 580.95.05')[0]?.memoryMb).toBeNull());

  it('cannot make a name or a driver endless', () =>
    expect(nvidiaCards(`${'x'.repeat(9_000)}, 1, ${'1'.repeat(9_000)}`)).toEqual([
      { vendor: 'nvidia', name: 'x'.repeat(128), memoryMb: 1 },
    ]));
});

it('the kernel names models of NVIDIA and the driver', () => {
  const driver = nvidiaDriver(
    'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023',
  );
  expect(driver).toBe('535.129.03');
  expect(nvidiaDriver('NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build')).toBe(
    '550.54.15',
  );
  expect(nvidiaDriver('nothing')).toBeUndefined();
  expect(nvidiaModel('Model: \t\t Tesla T4\nIRQ:   \t\t 42\n', driver)).toEqual([
    { vendor: 'nvidia', name: 'Tesla T4', memoryMb: null, driver: '535.129.03' },
  ]);
  expect(nvidiaModel('IRQ: 42', driver)).toEqual([]);
});

it('the kernel describes cards of AMD, and others are none', () => {
  const files = { vendor: '0x1002\n', device: '0x740f\n', productName: undefined, vramTotal: '68702699520\n' };
  expect(amdCard(files)).toEqual([{ vendor: 'amd', name: 'AMD 0x740f', memoryMb: 65_520 }]);
  expect(amdCard({ ...files, productName: 'MI210\n', vramTotal: 'n/a' })).toEqual([
    { vendor: 'amd', name: 'MI210', memoryMb: null },
  ]);
  expect(amdCard({ ...files, vendor: '0x8086\n' })).toEqual([]);
});

it('rocm-smi names cards in fields of its JSON', () => {
  const card = { 'VRAM Total Memory (B)': '17163091968', 'Card series': 'Radeon RX 6800', 'Card vendor': 'AMD' };
  expect(rocmCards(JSON.stringify({ card0: card, card1: 7, system: { 'Driver version': '6.3.6' } }))).toEqual([
    { vendor: 'amd', name: 'Radeon RX 6800', memoryMb: 16_368 },
    { vendor: 'amd', name: 'card1', memoryMb: null },
  ]);
  expect(rocmCards('ERROR: no GPU')).toEqual([]);
  expect(rocmCards('[1]')).toEqual([]);
});
