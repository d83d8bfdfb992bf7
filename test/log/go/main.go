// Checks a log with the packages of Go's own checksum database: golang.org/x/mod/sumdb/note and tlog.
//
//	go run main.go <folder> <vkey>
//
// The folder is a copy of the log as C2SP tlog-tiles names its files. tlog has other names for the same tiles:
// tile/8/<level>/<n> for <level>/<n>, the 8 being the height of a tile.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

type folder string

func (folder) Height() int { return tileHeight }

func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		name := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(string(f), name))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// They are read by their owner: nothing is kept.
func (folder) SaveTiles([]tlog.Tile, [][]byte) {}

// entries reads the records of all bundles, which tlog has no name for.
func (f folder) entries(size int64) ([][]byte, error) {
	var all [][]byte
	for n := int64(0); n*256 < size; n++ {
		width := size - n*256
		if width > 256 {
			width = 256
		}
		name := tlog.Tile{H: tileHeight, L: 0, N: n, W: int(width)}.Path()
		name = strings.Replace(name, "tile/8/0/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(string(f), name))
		if err != nil {
			return nil, err
		}
		for len(data) > 0 {
			if len(data) < 2 {
				return nil, fmt.Errorf("%s ends within a length", name)
			}
			length := int(data[0])<<8 | int(data[1])
			if len(data) < 2+length {
				return nil, fmt.Errorf("%s ends within an entry", name)
			}
			all = append(all, data[2:2+length])
			data = data[2+length:]
		}
	}
	if int64(len(all)) != size {
		return nil, fmt.Errorf("%d entries in place of %d", len(all), size)
	}
	return all, nil
}

// openCheckpoint reads a C2SP tlog-checkpoint: Go's tree notes have a fixed first line in place of the origin.
func openCheckpoint(file, vkey string) (tlog.Tree, error) {
	message, err := os.ReadFile(file)
	if err != nil {
		return tlog.Tree{}, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open(message, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the checkpoint is not one of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// sizes to prove: all small ones, and those around whole tiles.
func sizes(size int64) []int64 {
	var all []int64
	for n := int64(1); n <= size; n++ {
		if n <= 40 || n%256 <= 1 || n%256 == 255 || n == size {
			all = append(all, n)
		}
	}
	return all
}

func check(dir, vkey string) (map[string]int64, error) {
	tree, err := openCheckpoint(filepath.Join(dir, "checkpoint"), vkey)
	if err != nil {
		return nil, err
	}
	log := folder(dir)
	entries, err := log.entries(tree.N)
	if err != nil {
		return nil, err
	}
	hashes := tlog.TileHashReader(tree, log)
	records, trees := int64(0), int64(0)
	for index, entry := range entries {
		proof, err := tlog.ProveRecord(tree.N, int64(index), hashes)
		if err != nil {
			return nil, err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(entry)); err != nil {
			return nil, fmt.Errorf("entry %d: %w", index, err)
		}
		records++
	}
	for _, size := range sizes(tree.N) {
		root, err := tlog.TreeHash(size, hashes)
		if err != nil {
			return nil, err
		}
		proof, err := tlog.ProveTree(tree.N, size, hashes)
		if err != nil {
			return nil, err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, size, root); err != nil {
			return nil, fmt.Errorf("tree of %d: %w", size, err)
		}
		trees++
	}
	return map[string]int64{"size": tree.N, "records": records, "trees": trees}, nil
}

func main() {
	checked, err := check(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(checked)
}
